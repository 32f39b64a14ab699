-- AlterTable
ALTER TABLE "user_group" ADD COLUMN "version" INTEGER NOT NULL DEFAULT 1;
