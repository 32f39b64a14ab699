-- AlterTable
ALTER TABLE "user_group" ADD COLUMN     "last_resolved_hour" INTEGER;
