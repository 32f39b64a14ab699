import { type RefObject, useEffect, useRef } from 'react';

/**
 * Scrolls an element into view whenever something new is shown in it: a long form may be scrolled away from it.
 *
 * @param shown what is new, by its identity; must stay the same while a person types.
 */
export function useScrollIntoView(shown: unknown): RefObject<HTMLDivElement | null> {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (shown !== undefined) element.current?.scrollIntoView({ block: 'nearest' });
  }, [shown]);
  return element;
}
