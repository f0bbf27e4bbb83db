// RUN: epi-compile %s --arch=x86-64-v3 --stage=llvm-opt | FileCheck %s
// RUN: epi-compile %s --arch=x86-64-v3 --stage=info | FileCheck %s --check-prefix=INFO
// RUN: epi-compile %s --arch=x86-64-v3 --stage=asm | FileCheck %s --check-prefix=ASM

// A chain of elementwise ops is one loop of native vectors with no tile in memory, and a second one for tiles that
// hang over the edge. Products and sums stay two operations.
// CHECK-LABEL: define void @chain(
// CHECK: load <8 x float>
// CHECK-NEXT: fmul <8 x float>
// CHECK-NEXT: fadd <8 x float>
// CHECK-NEXT: {{.*}}getelementptr
// CHECK-NEXT: store <8 x float>
// CHECK: llvm.masked.load.v8f32
// CHECK: llvm.masked.store.v8f32
// INFO: slot pointer arg 0
// INFO-NEXT: slot extent arg 0
// INFO-NEXT: slot pointer arg 1
// INFO-NEXT: slot extent arg 1
// INFO: arena 0
// ASM: vmulps
// ASM-NOT: vfmadd
// ASM: vaddps
func.func @chain(%in: !tile.view<?xf32, strides = [1], div = [1], align = 64, alias = 0>,
                 %out: !tile.view<?xf32, strides = [1], div = [1], align = 64, alias = 1>) attributes {tile.kernel} {
  %p = tile.program_id 0
  %n = tile.constant(1024 : i32) : i32
  %o = tile.binary mul %p, %n : i32, i32 -> i32
  %at = tile.cast wrap %o : i32 -> i64
  %x = tile.load %in[%at] : <?xf32, strides = [1], div = [1], align = 64, alias = 0> -> tensor<1024xf32>
  %two = tile.constant(dense<3.0> : tensor<1024xf32>) : tensor<1024xf32>
  %y = tile.binary mul %x, %two : tensor<1024xf32>, tensor<1024xf32> -> tensor<1024xf32>
  %z = tile.binary add %y, %two : tensor<1024xf32>, tensor<1024xf32> -> tensor<1024xf32>
  tile.store %z, %out[%at] : tensor<1024xf32>, <?xf32, strides = [1], div = [1], align = 64, alias = 1>
  return
}
