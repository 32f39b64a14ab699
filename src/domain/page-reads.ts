import { createSemaphore, type Semaphore } from '../concurrency.ts';

/**
 * Bounds the statements of pages that are in progress at once, so that connections remain for other requests, and how many wait.
 * Unlike look-ups they are not sent together, and one request may have many.
 */
export const pageReads: Semaphore = createSemaphore(4, 2_000);
