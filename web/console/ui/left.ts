import type { FocusEvent } from 'react';

/** Whether the focus leaves a form for another part of the page: not for a field of the form, nor with the whole window. */
export const isLeft = ({ currentTarget, target, relatedTarget }: FocusEvent): boolean =>
  document.activeElement !== target && !currentTarget.contains(relatedTarget);
