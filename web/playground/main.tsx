import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import 'graphiql/style.css';
import './playground.css';
import { permitDialogStyles } from './nonce.ts';
import { Playground } from './playground.tsx';

const container = document.getElementById('root');
if (!container) throw new Error('The page has no element with the id "root".');
permitDialogStyles();
createRoot(container).render(
  <StrictMode>
    <Playground />
  </StrictMode>,
);
