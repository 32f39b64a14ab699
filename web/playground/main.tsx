import './nonce.ts';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import 'graphiql/style.css';
import './playground.css';
import { Playground } from './playground.tsx';

const container = document.getElementById('root');
if (!container) throw new Error('The page has no element with the id "root".');
createRoot(container).render(
  <StrictMode>
    <Playground />
  </StrictMode>,
);
