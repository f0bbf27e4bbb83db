// Helpers vanish into the kernel, through two levels, with the place of the call kept.
// RUN: epi-opt %s --split-input-file --inline-calls --locations | FileCheck %s

// CHECK-NOT: func.func private
// CHECK-NOT: call @
// CHECK-LABEL: func.func @k(
// CHECK-SAME: [[X:%[a-z0-9]+]]: f32
// CHECK: [[A:%.*]] = tile.binary mul [[X]], [[X]] : f32, f32 -> f32 loc([[WHERE:#loc[0-9]*]])
// CHECK: [[B:%.*]] = tile.binary add [[A]], [[X]]
// CHECK: scf.if
// CHECK: tile.binary mul [[B]], [[B]]
// CHECK: tile.print "%g" %{{.*}} : f32
// CHECK-DAG: [[WHERE]] = loc(callsite(
func.func private @square(%x: f32) -> f32 {
  %y = tile.binary mul %x, %x : f32, f32 -> f32
  return %y : f32
}
func.func private @poly(%x: f32) -> f32 {
  %y = func.call @square(%x) : (f32) -> f32
  %z = tile.binary add %y, %x : f32, f32 -> f32
  return %z : f32
}
func.func @k(%x: f32, %c: i1) attributes {tile.kernel} {
  %y = func.call @poly(%x) : (f32) -> f32
  %z = scf.if %c -> (f32) {
    %w = func.call @square(%y) : (f32) -> f32
    scf.yield %w : f32
  } else {
    scf.yield %y : f32
  }
  tile.print "%g" %z : f32
  return
}
