import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';

const container = document.getElementById('root');
if (!container) throw new Error('The page has no element with the id "root".');
createRoot(container).render(
  <StrictMode>
    <h1>User group gateway</h1>
  </StrictMode>,
);
