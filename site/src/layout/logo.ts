/** The logo: two speech marks that face each other, as two parties who talk. Its colours come from the style sheet. */
export const logo =
  '<svg class="logo" viewBox="0 0 32 32" width="26" height="26" aria-hidden="true"><path class="logo-a" d="M3 4h14v4H7v12h3v4l-7 5z"/><path class="logo-b" d="M29 28H15v-4h10V12h-3V8l7-5z"/></svg>';

const icon = (paths: string): string =>
  `<svg class="icon" viewBox="0 0 20 20" width="18" height="18" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths}</svg>`;

export const icons = {
  search: icon('<circle cx="8.5" cy="8.5" r="5.5"/><path d="m13 13 4.5 4.5"/>'),
  menu: icon('<path d="M3 5h14M3 10h14M3 15h14"/>'),
  theme: icon(
    '<circle cx="10" cy="10" r="6.5"/><path d="M10 3.5v13a6.5 6.5 0 0 0 0-13z" fill="currentColor" stroke="none"/>',
  ),
} as const;
