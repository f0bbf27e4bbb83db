// RUN: epi-compile %s --arch=x86-64-v3 --stage=llvm-opt | FileCheck %s
// A body with a math function is emitted once: an edge is staged through scratch.
// CHECK-LABEL: define void @exponential(
// CHECK: llvm.masked.load.v8f32
// CHECK-COUNT-2: shl <8 x i32>
// CHECK-NOT: shl <8 x i32>
func.func @exponential(%in: !tile.view<?xf32, strides = [1], div = [1], align = 64, alias = 0>,
                       %out: !tile.view<?xf32, strides = [1], div = [1], align = 64, alias = 1>) attributes {tile.kernel} {
  %p = tile.program_id 0
  %n = tile.constant(1024 : i32) : i32
  %o = tile.binary mul %p, %n : i32, i32 -> i32
  %at = tile.cast wrap %o : i32 -> i64
  %x = tile.load %in[%at] : <?xf32, strides = [1], div = [1], align = 64, alias = 0> -> tensor<1024xf32>
  %e = tile.unary exp %x : tensor<1024xf32> -> tensor<1024xf32>
  tile.store %e, %out[%at] : tensor<1024xf32>, <?xf32, strides = [1], div = [1], align = 64, alias = 1>
  return
}
