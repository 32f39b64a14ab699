-- CreateEnum
CREATE TYPE "environment_tag" AS ENUM ('Customer', 'Testing');

-- CreateTable
CREATE TABLE "user_group" (
    "team_id" SERIAL NOT NULL,
    "provided_id" VARCHAR(255) NOT NULL,
    "environment_tag" "environment_tag",
    "name" VARCHAR(255) NOT NULL,
    "token" VARCHAR(255) NOT NULL,
    "properties" JSON,
    "mapping" JSON NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "user_group_pkey" PRIMARY KEY ("team_id")
);

-- CreateTable
CREATE TABLE "retired_token" (
    "token" VARCHAR(255) NOT NULL,
    "team_id" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "retired_token_pkey" PRIMARY KEY ("token")
);

-- CreateTable
CREATE TABLE "api_token" (
    "id" SERIAL NOT NULL,
    "name" VARCHAR(255) NOT NULL,
    "secret_hash" BYTEA NOT NULL,
    "environment_tag" "environment_tag",
    "scopes" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_token_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "user_group_token_key" ON "user_group"("token");

-- CreateIndex
CREATE UNIQUE INDEX "user_group_provided_id_customer_key" ON "user_group"("provided_id") WHERE (environment_tag IS DISTINCT FROM 'Testing'::environment_tag);

-- CreateIndex
CREATE UNIQUE INDEX "user_group_provided_id_testing_key" ON "user_group"("provided_id") WHERE (environment_tag IS DISTINCT FROM 'Customer'::environment_tag);

-- CreateIndex
CREATE INDEX "retired_token_team_id_idx" ON "retired_token"("team_id");

-- CreateIndex
CREATE UNIQUE INDEX "api_token_secret_hash_key" ON "api_token"("secret_hash");

-- AddForeignKey
ALTER TABLE "retired_token" ADD CONSTRAINT "retired_token_team_id_fkey" FOREIGN KEY ("team_id") REFERENCES "user_group"("team_id") ON DELETE CASCADE ON UPDATE CASCADE;
