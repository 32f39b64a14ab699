-- AlterTable: with its index.
ALTER TABLE "webhook_delivery" DROP COLUMN "in_flight";
