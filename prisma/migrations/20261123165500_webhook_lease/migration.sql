-- AlterTable
ALTER TABLE "webhook" ADD COLUMN     "leased_until" TIMESTAMPTZ(6);
