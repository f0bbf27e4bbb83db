// RUN: not epi-compile %s --arch=x86-64-v3 2>&1 | FileCheck %s
// RUN: not epi-compile %s --arch=pentium 2>&1 | FileCheck %s --check-prefix=ARCH
// RUN: not epi-compile %s --target=abacus 2>&1 | FileCheck %s --check-prefix=TARGET
// CHECK: error: {{.*}}:14: scf.if: a combiner takes elementwise operations on scalars only
// ARCH: error: no CPU architecture 'pentium'
// TARGET: error: no compiler target 'abacus'; this build has: {{.*}}cpu
func.func @branchy(%in: !tile.view<64xf32, strides = [1], div = [1], align = 64, alias = 0>,
                   %out: !tile.view<1xf32, strides = [1], div = [1], align = 64, alias = 1>) attributes {tile.kernel} {
  %zero = tile.constant(0 : i64) : i64
  %x = tile.load %in[%zero] : <64xf32, strides = [1], div = [1], align = 64, alias = 0> -> tensor<64xf32>
  %s = tile.reduce region 0 %x : tensor<64xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %c = tile.compare lt %a, %b : f32 -> i1
    %r = scf.if %c -> f32 {
      scf.yield %a : f32
    } else {
      scf.yield %b : f32
    }
    tile.yield %r : f32
  }
  %t = tile.broadcast %s : f32 -> tensor<1xf32>
  tile.store %t, %out[%zero] : tensor<1xf32>, <1xf32, strides = [1], div = [1], align = 64, alias = 1>
  return
}
