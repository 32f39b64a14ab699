module example.com/embed-backend

go 1.19
