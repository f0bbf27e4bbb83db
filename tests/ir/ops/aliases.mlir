// A view's extents may be constants, strides zero or negative; all of it survives the text.
// RUN: epi-opt %s | FileCheck %s

// CHECK: func.func @views(%arg0: !tile.view<?x16xi1, strides = [-16, 0], div = [16, 1], align = 1, alias = 7>)
func.func @views(%x: !tile.view<?x16xi1, strides = [-16, 0], div = [16, 1], align = 1, alias = 7>) { return }
