-- AlterTable
ALTER TABLE "api_token" ADD COLUMN     "enabled" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "rate_limit" INTEGER;
