// RUN: epi-compile %s --arch=x86-64-v3 --stage=info | FileCheck %s
// The first load is read after a store that overlaps it, so it goes to scratch at its own place (256 floats); the
// second is read and written chunk by chunk at one place, and needs none.
// CHECK: arena 1024
func.func @shift(%a: !tile.view<?xf32, strides = [1], div = [1], align = 4, alias = 0>) attributes {tile.kernel} {
  %zero = tile.constant(0 : i64) : i64
  %one = tile.constant(1 : i64) : i64
  %far = tile.constant(512 : i64) : i64
  %x = tile.load %a[%zero] : <?xf32, strides = [1], div = [1], align = 4, alias = 0> -> tensor<256xf32>
  %y = tile.load %a[%one] : <?xf32, strides = [1], div = [1], align = 4, alias = 0> -> tensor<256xf32>
  %y2 = tile.binary add %y, %y : tensor<256xf32>, tensor<256xf32> -> tensor<256xf32>
  tile.store %y2, %a[%one] : tensor<256xf32>, <?xf32, strides = [1], div = [1], align = 4, alias = 0>
  tile.store %x, %a[%far] : tensor<256xf32>, <?xf32, strides = [1], div = [1], align = 4, alias = 0>
  return
}
