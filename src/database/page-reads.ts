import { createSemaphore, type Semaphore } from '../concurrency/semaphore.ts';

/**
 * Bounds the statements of pages that are in progress at once, so that connections remain for other requests, and how many wait.
 * One request may have many. Pages of user groups without JSON, which share statements, have their own.
 */
export const pageReads: Semaphore = createSemaphore(4, 2_000, 'pages of lists');
