import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import './styles/base.css';
import './styles/layout.css';
import './styles/components.css';
import './styles/tables.css';
import './styles/charts.css';
import './styles/audit.css';

const container = document.getElementById('root');
if (!container) throw new Error('The page has no element with the id "root".');
createRoot(container).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
