module example.com/driver

go 1.19

require assay.example/client v0.1.0
