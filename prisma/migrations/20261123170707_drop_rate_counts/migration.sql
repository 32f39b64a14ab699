-- DropTable
DROP TABLE "rate_count";
