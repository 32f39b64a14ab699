-- CreateTable
CREATE UNLOGGED TABLE "request_count" (
    "second" BIGINT NOT NULL,
    "api_token_id" INTEGER NOT NULL,
    "count" INTEGER NOT NULL,

CONSTRAINT "request_count_pkey" PRIMARY KEY ("second","api_token_id")
);
