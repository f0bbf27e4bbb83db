"""The IR's three hardest loads as plain tile programs and plans, the same on every machine: scan, radix, gemm."""
