// Every op of the dialect prints and parses back to the same text; the generic form parses too.
// RUN: epi-opt %s | FileCheck %s
// RUN: epi-opt %s > %t.1 && epi-opt %t.1 > %t.2 && diff %t.1 %t.2
// RUN: epi-opt %s --generic > %t.3 && epi-opt %t.3 > %t.4 && diff %t.1 %t.4

!f = !tile.view<?x?xf32, strides = [?, 1], div = [4, 1], align = 16, alias = 0>
!t = !tile.view<?x?xf32, strides = [1, ?], div = [1, 4], align = 16, alias = 0>
!i = !tile.view<?xi32, strides = [1], div = [1], align = 4, alias = 1>
!c = !tile.view<8xcomplex<f32>, strides = [1], div = [1], align = 8, alias = 2>
!s = !tile.view<f16, strides = [], div = [], align = 2, alias = 3>
!w = !tile.view<?xui64, strides = [1], div = [1], align = 8, alias = 4>

// CHECK-LABEL: func.func @helper(%arg0: f32) -> f32
func.func @helper(%x: f32) -> f32 { return %x : f32 }

// CHECK-LABEL: func.func @index(
// CHECK-SAME: {tile.name = "x"}) attributes {tile.kernel}
func.func @index(%x: !f {tile.name = "x"}) attributes {tile.kernel} {
  // CHECK: tile.program_id 0
  %p = tile.program_id 0
  // CHECK: tile.num_programs 2
  %n = tile.num_programs 2
  // CHECK: tile.dim %arg0, 1 : <?x?xf32, strides = [?, 1], div = [4, 1], align = 16, alias = 0>
  %d = tile.dim %x, 1 : !f
  // CHECK: tile.stride %arg0, 0 :
  %s = tile.stride %x, 0 : !f
  // CHECK: tile.slice %arg0, 0, %{{.*}} to %{{.*}} : <{{.*}}> -> <{{.*}}>
  %part = tile.slice %x, 0, %s to %d : !f -> !f
  // CHECK: tile.permute_view %{{.*}} [1, 0] : <{{.*}}> -> <?x?xf32, strides = [1, ?], div = [1, 4], align = 16, alias = 0>
  %turned = tile.permute_view %part [1, 0] : !f -> !t
  return
}

// CHECK-LABEL: func.func @memory(
func.func @memory(%x: !f, %n: !i, %c: !c, %s: !s, %at: i64, %rows: tensor<4x8xi32>, %columns: tensor<4x8xi64>,
                  %m: tensor<4x8xi1>) {
  // CHECK: tile.load %arg0[%arg4, %arg4] : <{{.*}}> -> tensor<4x8xf32>
  %a = tile.load %x[%at, %at] : !f -> tensor<4x8xf32>
  // CHECK: tile.load %arg0[%arg4, %arg4] {inbounds, padding = 1.000000e+00 : f32}
  %b = tile.load %x[%at, %at] {inbounds, padding = 1.0 : f32} : !f -> tensor<4x8xf32>
  // CHECK: tile.load %arg2[%arg4] {padding = [1.000000e+00 : f32, 2.000000e+00 : f32]}
  %cc = tile.load %c[%at] {padding = [1.0 : f32, 2.0 : f32]} : !c -> tensor<8xcomplex<f32>>
  // CHECK: tile.load %arg3[] : <f16, strides = [], div = [], align = 2, alias = 3> -> tensor<f16>
  %r0 = tile.load %s[] : !s -> tensor<f16>
  // CHECK: tile.store %{{.*}}, %arg0[%arg4, %arg4] {inbounds} : tensor<4x8xf32>, <
  tile.store %a, %x[%at, %at] {inbounds} : tensor<4x8xf32>, !f
  // CHECK: tile.gather %arg0[%arg5, %arg6] mask %arg7 {padding = 0.000000e+00 : f32} : <{{.*}}>, (tensor<4x8xi32>, tensor<4x8xi64>) -> tensor<4x8xf32>, tensor<4x8xi1>
  %g = tile.gather %x[%rows, %columns] mask %m {padding = 0.0 : f32} : !f, (tensor<4x8xi32>, tensor<4x8xi64>) -> tensor<4x8xf32>, tensor<4x8xi1>
  // CHECK: tile.gather %arg3[] : <{{.*}}>, () -> f16
  %gs = tile.gather %s[] : !s, () -> f16
  // CHECK: tile.scatter %{{.*}}, %arg0[%arg5, %arg6] mask %arg7 {inbounds} : tensor<4x8xf32>, <{{.*}}>, (tensor<4x8xi32>, tensor<4x8xi64>) -> (), tensor<4x8xi1>
  tile.scatter %g, %x[%rows, %columns] mask %m {inbounds} : tensor<4x8xf32>, !f, (tensor<4x8xi32>, tensor<4x8xi64>) -> (), tensor<4x8xi1>
  // CHECK: tile.scatter %{{.*}}, %arg3[] : f16, <{{.*}}>, () -> ()
  tile.scatter %gs, %s[] : f16, !s, () -> ()
  // CHECK: tile.atomic_rmw add acq_rel device %arg5, %arg1[%arg6] mask %arg7 : tensor<4x8xi32>, <{{.*}}>, (tensor<4x8xi64>) -> tensor<4x8xi32>, tensor<4x8xi1>
  %r = tile.atomic_rmw add acq_rel device %rows, %n[%columns] mask %m : tensor<4x8xi32>, !i, (tensor<4x8xi64>) -> tensor<4x8xi32>, tensor<4x8xi1>
  // CHECK: tile.atomic_cas relaxed system %arg5, %{{.*}}, %arg1[%arg6] : tensor<4x8xi32>, tensor<4x8xi32>, <{{.*}}>, (tensor<4x8xi64>) -> tensor<4x8xi32>
  %q = tile.atomic_cas relaxed system %rows, %r, %n[%columns] : tensor<4x8xi32>, tensor<4x8xi32>, !i, (tensor<4x8xi64>) -> tensor<4x8xi32>
  // CHECK: tile.fence release program
  tile.fence release program
  return
}

// CHECK-LABEL: func.func @creation(
func.func @creation() {
  // CHECK: tile.constant(true) : i1
  %b = tile.constant(true) : i1
  // CHECK: tile.constant(200 : ui8) : ui8
  %u = tile.constant(200 : ui8) : ui8
  // CHECK: tile.constant(1.500000e+00 : bf16) : bf16
  %h = tile.constant(1.5 : bf16) : bf16
  // CHECK: tile.constant([1.000000e+00, 2.000000e+00]) : complex<f64>
  %c = tile.constant([1.0 : f64, 2.0 : f64]) : complex<f64>
  // CHECK: tile.constant(dense<[1, 2, 3]> : tensor<3xi32>) : tensor<3xi32>
  %d = tile.constant(dense<[1, 2, 3]> : tensor<3xi32>) : tensor<3xi32>
  // CHECK: tile.constant(dense<(1.000000e+00,2.000000e+00)> : tensor<4xcomplex<f32>>) : tensor<4xcomplex<f32>>
  %z = tile.constant(dense<(1.0, 2.0)> : tensor<4xcomplex<f32>>) : tensor<4xcomplex<f32>>
  // CHECK: tile.iota 1 : tensor<4x8xui16>
  %i = tile.iota 1 : tensor<4x8xui16>
  return
}

// CHECK-LABEL: func.func @shape(
func.func @shape(%s: f32, %t: tensor<2x4xf32>, %one: tensor<2x1xf32>) {
  // CHECK: tile.broadcast %arg0 : f32 -> tensor<4xf32>
  %a = tile.broadcast %s : f32 -> tensor<4xf32>
  // CHECK: tile.broadcast %arg2 : tensor<2x1xf32> -> tensor<2x4xf32>
  %b = tile.broadcast %one : tensor<2x1xf32> -> tensor<2x4xf32>
  // CHECK: tile.reshape %arg1 : tensor<2x4xf32> -> tensor<8xf32>
  %c = tile.reshape %t : tensor<2x4xf32> -> tensor<8xf32>
  // CHECK: tile.reshape %arg0 : f32 -> tensor<1x1xf32>
  %d = tile.reshape %s : f32 -> tensor<1x1xf32>
  // CHECK: tile.permute %arg1 [1, 0] : tensor<2x4xf32> -> tensor<4x2xf32>
  %e = tile.permute %t [1, 0] : tensor<2x4xf32> -> tensor<4x2xf32>
  // CHECK: tile.cat 1 %arg1, %arg2 : tensor<2x4xf32>, tensor<2x1xf32> -> tensor<2x5xf32>
  %f = tile.cat 1 %t, %one : tensor<2x4xf32>, tensor<2x1xf32> -> tensor<2x5xf32>
  // CHECK: tile.extract %arg1 [0, 2] : tensor<2x4xf32> -> tensor<2x1xf32>
  %g = tile.extract %t [0, 2] : tensor<2x4xf32> -> tensor<2x1xf32>
  // CHECK: tile.insert %{{.*}} into %arg1 [0, 3] : tensor<2x1xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  %h = tile.insert %g into %t [0, 3] : tensor<2x1xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
  return
}

// CHECK-LABEL: func.func @arithmetic(
func.func @arithmetic(%x: tensor<4xf32>, %n: tensor<4xi32>, %c: i1) {
  // CHECK: tile.unary exp2 %arg0 {approx} : tensor<4xf32> -> tensor<4xf32>
  %a = tile.unary exp2 %x {approx} : tensor<4xf32> -> tensor<4xf32>
  // CHECK: tile.binary add %arg0, %{{.*}} : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %b = tile.binary add %x, %a : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  // CHECK: tile.binary floordiv %arg1, %arg1 {flag_zero} : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  %d = tile.binary floordiv %n, %n {flag_zero} : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  // CHECK: tile.binary complex %arg0, %arg0 : tensor<4xf32>, tensor<4xf32> -> tensor<4xcomplex<f32>>
  %z = tile.binary complex %x, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xcomplex<f32>>
  // CHECK: tile.unary abs %{{.*}} : tensor<4xcomplex<f32>> -> tensor<4xf32>
  %m = tile.unary abs %z : tensor<4xcomplex<f32>> -> tensor<4xf32>
  // CHECK: tile.fma %arg0, %{{.*}}, %{{.*}} : tensor<4xf32>
  %e = tile.fma %x, %a, %b : tensor<4xf32>
  // CHECK: tile.compare lt %arg0, %{{.*}} : tensor<4xf32> -> tensor<4xi1>
  %l = tile.compare lt %x, %a : tensor<4xf32> -> tensor<4xi1>
  // CHECK: tile.select %{{.*}}, %arg0, %{{.*}} : tensor<4xi1>, tensor<4xf32>
  %f = tile.select %l, %x, %a : tensor<4xi1>, tensor<4xf32>
  // CHECK: tile.select %arg2, %arg0, %{{.*}} : i1, tensor<4xf32>
  %g = tile.select %c, %x, %a : i1, tensor<4xf32>
  // CHECK: tile.cast saturate %arg0 : tensor<4xf32> -> tensor<4xui8>
  %h = tile.cast saturate %x : tensor<4xf32> -> tensor<4xui8>
  // CHECK: tile.bitcast %arg0 : tensor<4xf32> -> tensor<4xi32>
  %i = tile.bitcast %x : tensor<4xf32> -> tensor<4xi32>
  return
}

// CHECK-LABEL: func.func @collectives(
func.func @collectives(%x: tensor<4x8xf32>, %n: tensor<8xi32>, %v: tensor<8xf32>, %w: !w) {
  // CHECK: tile.reduce add 1 %arg0 {lanes = 4 : i64} : tensor<4x8xf32> -> tensor<4xf32>
  %a = tile.reduce add 1 %x {lanes = 4 : i64} : tensor<4x8xf32> -> tensor<4xf32>
  // CHECK: tile.reduce region 0 %arg2, %arg1 : tensor<8xf32>, tensor<8xi32> -> f32, i32 {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: i32, %{{.*}}: f32, %{{.*}}: i32):
  // CHECK: tile.yield %{{.*}}, %{{.*}} : f32, i32
  %b, %c = tile.reduce region 0 %v, %n : tensor<8xf32>, tensor<8xi32> -> f32, i32 {
  ^bb0(%lv: f32, %li: i32, %rv: f32, %ri: i32):
    %more = tile.compare gt %rv, %lv : f32 -> i1
    %value = tile.select %more, %rv, %lv : i1, f32
    %index = tile.select %more, %ri, %li : i1, i32
    tile.yield %value, %index : f32, i32
  }
  // CHECK: tile.scan mul 0 %arg0 {reverse, segment = 2 : i64} : tensor<4x8xf32> -> tensor<4x8xf32>
  %d = tile.scan mul 0 %x {reverse, segment = 2 : i64} : tensor<4x8xf32> -> tensor<4x8xf32>
  // CHECK: tile.scan region 0 %arg2 : tensor<8xf32> -> tensor<8xf32> {
  %s = tile.scan region 0 %v : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%l: f32, %r: f32):
    tile.yield %r : f32
  }
  // CHECK: tile.take 1 %arg0[%{{.*}}] : tensor<4x8xf32>, tensor<4x2xi32> -> tensor<4x2xf32>
  %i = tile.iota 1 : tensor<4x2xi32>
  %e = tile.take 1 %x[%i] : tensor<4x8xf32>, tensor<4x2xi32> -> tensor<4x2xf32>
  // CHECK: %ranks, %counts = tile.rank %arg1 : tensor<8xi32> -> tensor<8xi32>, tensor<256xi32>
  %f, %g = tile.rank %n : tensor<8xi32> -> tensor<8xi32>, tensor<256xi32>
  // CHECK: tile.lookback add %arg3, %{{.*}} [0.000000e+00 : f32] : <{{.*}}>, f32 -> f32
  %h = tile.lookback add %w, %b [0.0 : f32] : !w, f32 -> f32
  // CHECK: tile.lookback region %arg3, %{{.*}}, %{{.*}} [0.000000e+00 : f32, 7 : i32] : <{{.*}}>, f32, i32 -> f32, i32 {
  %j, %k = tile.lookback region %w, %b, %c [0.0 : f32, 7 : i32] : !w, f32, i32 -> f32, i32 {
  ^bb0(%lv: f32, %li: i32, %rv: f32, %ri: i32):
    tile.yield %lv, %ri : f32, i32
  }
  return
}

// CHECK-LABEL: func.func @contraction(
func.func @contraction(%a: tensor<16x32xbf16>, %b: tensor<32x8xbf16>, %acc: tensor<16x8xf32>) {
  // CHECK: tile.mma %arg0, %arg1, %arg2 : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
  %c = tile.mma %a, %b, %acc : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
  return
}

// CHECK-LABEL: func.func @debug(
func.func @debug(%c: tensor<4xi1>, %x: f32) {
  // CHECK: tile.assert %arg0, "all good" : tensor<4xi1>
  tile.assert %c, "all good" : tensor<4xi1>
  // CHECK: tile.print "x = %g%%\0A" %arg1 : f32
  tile.print "x = %g%%\n" %x : f32
  // CHECK: tile.print "plain"
  tile.print "plain"
  return
}

// CHECK-LABEL: func.func @control(
func.func @control(%x: f32, %c: i1, %n: i32) -> f32 {
  // CHECK: call @helper(%arg0) : (f32) -> f32
  %y = func.call @helper(%x) : (f32) -> f32
  // CHECK: scf.for %{{.*}} = %arg2 to %arg2 step %arg2 iter_args(%{{.*}} = %{{.*}}) -> (f32) : i32
  %z = scf.for %i = %n to %n step %n iter_args(%v = %y) -> (f32) : i32 { scf.yield %v : f32 }
  // CHECK: scf.if %arg1 -> (f32)
  %w = scf.if %c -> (f32) { scf.yield %z : f32 } else { scf.yield %x : f32 }
  // CHECK: scf.while (%{{.*}} = %{{.*}}) : (f32) -> f32
  %u = scf.while (%v = %w) : (f32) -> f32 { scf.condition(%c) %v : f32 } do {
  ^bb0(%v: f32):
    scf.yield %v : f32
  }
  return %u : f32
}
