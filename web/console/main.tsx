import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import './styles/base.css';
import './styles/layout.css';
import './styles/sections.css';
import './styles/components.css';
import './styles/states.css';
import './styles/dialogs.css';
import './styles/filters.css';
import './styles/tables.css';
import './styles/editor.css';
import './styles/charts.css';
import './styles/audit.css';
import './styles/webhooks.css';
import './styles/narrow.css';
import './styles/print.css';

const container = document.getElementById('root');
if (!container) throw new Error('The page has no element with the id "root".');
// An Enter that is held must not confirm what it has opened, nor send anything again. Editors have handled it before; in a text
// area it begins lines.
document.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && event.repeat && !(event.target instanceof HTMLTextAreaElement)) event.preventDefault();
});
createRoot(container).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
