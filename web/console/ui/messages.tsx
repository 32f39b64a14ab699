import { createContext, type ReactNode, useCallback, useContext, useRef, useState } from 'react';

/** How long a message is shown. */
const shownMs = 5_000;

const MessagesContext = createContext<(text: string) => void>(() => {});

/** Shows a short message that something has succeeded, and has screen readers read it. */
export const useMessage = () => useContext(MessagesContext);

/** Shows the messages of the pages below it, one at a time. */
export function MessagesProvider({ children }: { readonly children: ReactNode }) {
  const [text, setText] = useState('');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const show = useCallback((next: string) => {
    clearTimeout(timer.current);
    setText(next);
    timer.current = setTimeout(setText, shownMs, '');
  }, []);
  return (
    <MessagesContext value={show}>
      {children}
      <div className="messages" role="status">
        {text && <div className="message">{text}</div>}
      </div>
    </MessagesContext>
  );
}
