'use client';

import { useEffect, useState } from 'react';
import { createEmbedTokenProvider } from 'user-group-gateway-client';

/** Keeps an embed token while the page is open, and says until when it is valid. Your dashboard gets it where `onToken` is. */
export function EmbedTokenStatus() {
  const [status, setStatus] = useState('…');
  useEffect(() => {
    const provider = createEmbedTokenProvider(
      async (signal) => {
        const response = await fetch('/embed-token', { signal });
        if (!response.ok) throw new Error('There is no embed token right now.');
        return response.json();
      },
      { onToken: (token) => setStatus(`valid until ${expiryOf(token)}`), onError: (error) => setStatus(String(error)) },
    );
    return () => provider.stop();
  }, []);
  return status;
}

/** Only to show it: whoever receives the token verifies it. */
function expiryOf(token: string) {
  const { exp } = JSON.parse(atob(token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')));
  return new Date(exp * 1000).toLocaleTimeString();
}
