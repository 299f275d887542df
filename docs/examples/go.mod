module example.com/parley-examples

go 1.19
