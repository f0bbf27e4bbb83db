// RUN: epi-compile %s --arch=x86-64-v3 --stage=llvm-opt | grep -c "fadd" | FileCheck %s
// RUN: sed -e 's/1024/16384/g' %s | epi-compile - --arch=x86-64-v3 --stage=llvm-opt | grep -c "fadd" | FileCheck %s
// The code does not grow with the tile: two loops, three additions each.
// CHECK: {{^}}6{{$}}
func.func @thrice(%in: !tile.view<?xf32, strides = [1], div = [1], align = 64, alias = 0>,
                  %out: !tile.view<?xf32, strides = [1], div = [1], align = 64, alias = 1>) attributes {tile.kernel} {
  %zero = tile.constant(0 : i64) : i64
  %x = tile.load %in[%zero] : <?xf32, strides = [1], div = [1], align = 64, alias = 0> -> tensor<1024xf32>
  %a = tile.binary add %x, %x : tensor<1024xf32>, tensor<1024xf32> -> tensor<1024xf32>
  %b = tile.binary add %a, %x : tensor<1024xf32>, tensor<1024xf32> -> tensor<1024xf32>
  %c = tile.binary add %b, %a : tensor<1024xf32>, tensor<1024xf32> -> tensor<1024xf32>
  tile.store %c, %out[%zero] : tensor<1024xf32>, <?xf32, strides = [1], div = [1], align = 64, alias = 1>
  return
}
