-- CreateTable
CREATE UNLOGGED TABLE "rate_count" (
    "process" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "counts" JSON NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

CONSTRAINT "rate_count_pkey" PRIMARY KEY ("process","number")
);
