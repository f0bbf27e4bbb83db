// RUN: epi-compile %s --arch=x86-64-v3 --stage=llvm | FileCheck %s
// Views of two alias classes: their accesses carry disjoint scopes.
// CHECK: load <8 x float>, ptr %{{.*}}, align 32, !alias.scope ![[A:[0-9]+]], !noalias ![[B:[0-9]+]]
// CHECK: store <8 x float> %{{.*}}, ptr %{{.*}}, align 32, !alias.scope ![[B]], !noalias ![[A]]
func.func @copy(%in: !tile.view<64xf32, strides = [1], div = [1], align = 64, alias = 0>,
                %out: !tile.view<64xf32, strides = [1], div = [1], align = 64, alias = 1>) attributes {tile.kernel} {
  %zero = tile.constant(0 : i64) : i64
  %x = tile.load %in[%zero] : <64xf32, strides = [1], div = [1], align = 64, alias = 0> -> tensor<64xf32>
  tile.store %x, %out[%zero] : tensor<64xf32>, <64xf32, strides = [1], div = [1], align = 64, alias = 1>
  return
}
