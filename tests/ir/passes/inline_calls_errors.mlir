// What cannot be inlined.
// RUN: epi-opt %s --split-input-file --inline-calls --verify-diagnostics

func.func @f(%x: f32) -> f32 {
  // expected-error @+1 {{helper f calls itself; kernels have no recursion}}
  %y = func.call @f(%x) : (f32) -> f32
  return %y : f32
}
func.func @k(%x: f32) attributes {tile.kernel} {
  %y = func.call @f(%x) : (f32) -> f32
  return
}
// -----
func.func private @f(f32) -> f32
func.func @k(%x: f32) attributes {tile.kernel} {
  // expected-error @+1 {{helper f has no body}}
  %y = func.call @f(%x) : (f32) -> f32
  return
}
// -----
func.func @g() attributes {tile.kernel} { return }
func.func @k() attributes {tile.kernel} {
  // expected-error @+1 {{kernel g is called; only launches start kernels}}
  func.call @g() : () -> ()
  return
}
