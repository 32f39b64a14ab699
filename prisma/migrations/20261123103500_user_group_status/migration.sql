-- AlterTable
ALTER TABLE "user_group" ADD COLUMN     "suspended" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "suspended_reason" VARCHAR(255);
