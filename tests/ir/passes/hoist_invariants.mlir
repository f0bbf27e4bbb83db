// Scalars and views leave loops, inner ones first; tiles and reported divisions stay.
// RUN: epi-opt %s --hoist-invariants | FileCheck %s

!v = !tile.view<?x?xf32, strides = [?, 1], div = [4, 1], align = 16, alias = 0>
!w = !tile.view<?x?xf32, strides = [1, ?], div = [1, 4], align = 16, alias = 0>
// CHECK-LABEL: func.func @k
// CHECK: tile.binary mul %arg1, %arg1
// CHECK-NEXT: tile.permute_view
// CHECK-NEXT: scf.for [[I:%.*]] = 
// CHECK-NEXT: tile.binary add [[I]], %{{.*}} : i32, i32 -> i32
// CHECK-NEXT: tile.cast wrap
// CHECK-NEXT: scf.for
// CHECK-NEXT: tile.binary floordiv %arg1, %arg1 {flag_zero}
// CHECK: tile.broadcast
func.func @k(%x: !v, %n: i32, %v: f32) attributes {tile.kernel} {
  scf.for %i = %n to %n step %n : i32 {
    scf.for %j = %n to %n step %n : i32 {
      %a = tile.binary mul %n, %n : i32, i32 -> i32
      %b = tile.binary add %i, %a : i32, i32 -> i32
      %t = tile.permute_view %x [1, 0] : !v -> !w
      %d = tile.binary floordiv %n, %n {flag_zero} : i32, i32 -> i32
      %s = tile.broadcast %v : f32 -> tensor<4x4xf32>
      %o = tile.cast wrap %b : i32 -> i64
      tile.store %s, %t[%o, %o] : tensor<4x4xf32>, !w
      tile.print "%d" %d : i32
    }
  }
  return
}
