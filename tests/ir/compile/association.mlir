// RUN: epi-compile %s --arch=x86-64-v3 --stage=tile | FileCheck %s
// RUN: epi-compile %s --arch=x86-64-v4 --stage=tile | FileCheck %s
// Absent associations are filled before anything is emitted, the same on every level of x86.
// CHECK: tile.reduce add 0 %{{.*}} {lanes = 64 : i64}
// CHECK: tile.scan add 0 %{{.*}} {segment = 32 : i64}
func.func @sums(%in: !tile.view<1024xf32, strides = [1], div = [1], align = 64, alias = 0>,
                %out: !tile.view<1024xf32, strides = [1], div = [1], align = 64, alias = 1>) attributes {tile.kernel} {
  %zero = tile.constant(0 : i64) : i64
  %x = tile.load %in[%zero] : <1024xf32, strides = [1], div = [1], align = 64, alias = 0> -> tensor<1024xf32>
  %s = tile.reduce add 0 %x : tensor<1024xf32> -> f32
  %c = tile.scan add 0 %x : tensor<1024xf32> -> tensor<1024xf32>
  %b = tile.broadcast %s : f32 -> tensor<1024xf32>
  %y = tile.binary add %b, %c : tensor<1024xf32>, tensor<1024xf32> -> tensor<1024xf32>
  tile.store %y, %out[%zero] : tensor<1024xf32>, <1024xf32, strides = [1], div = [1], align = 64, alias = 1>
  return
}
