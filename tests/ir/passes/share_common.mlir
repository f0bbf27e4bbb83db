// Equal ops are shared; loads only where nothing wrote in between.
// RUN: epi-opt %s --share-common | FileCheck %s

!v = !tile.view<?xf32, strides = [1], div = [1], align = 16, alias = 0>
// CHECK-LABEL: func.func @k
// CHECK: tile.program_id
// CHECK-NOT: tile.program_id
// CHECK: [[A:%.*]] = tile.load
// CHECK-NEXT: tile.store [[A]]
// CHECK-NEXT: [[B:%.*]] = tile.load
// CHECK-NEXT: tile.store [[B]]
// CHECK-NEXT: return
func.func @k(%x: !v) attributes {tile.kernel} {
  %p = tile.program_id 0
  %q = tile.program_id 0
  %i = tile.cast wrap %p : i32 -> i64
  %j = tile.cast wrap %q : i32 -> i64
  %a = tile.load %x[%i] : !v -> tensor<4xf32>
  %b = tile.load %x[%j] : !v -> tensor<4xf32>
  tile.store %b, %x[%j] : tensor<4xf32>, !v
  %c = tile.load %x[%i] : !v -> tensor<4xf32>
  tile.store %c, %x[%j] : tensor<4xf32>, !v
  return
}
