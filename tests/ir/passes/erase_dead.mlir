// Unused chains go, in loops and regions too; effects stay.
// RUN: epi-opt %s --erase-dead | FileCheck %s

!v = !tile.view<?xf32, strides = [1], div = [1], align = 16, alias = 0>
// CHECK-LABEL: func.func @k
// CHECK-NEXT: scf.for
// CHECK-NEXT: tile.atomic_rmw
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @k(%x: !v, %n: i32, %v: f32, %at: i64) attributes {tile.kernel} {
  %a = tile.load %x[%at] : !v -> tensor<4xf32>
  %b = tile.unary exp %a : tensor<4xf32> -> tensor<4xf32>
  %c = tile.reduce add 0 %b : tensor<4xf32> -> f32
  scf.for %i = %n to %n step %n : i32 {
    %d = tile.binary add %v, %c : f32, f32 -> f32
    %e = tile.atomic_rmw add relaxed device %v, %x[%n] : f32, !v, (i32) -> f32
  }
  return
}
