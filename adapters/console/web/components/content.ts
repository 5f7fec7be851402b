/** Layout, texts and states of pages. */
export * from './inline.tsx'
export * from './layout.tsx'
export * from './notes.tsx'
