/** All components of pages. */
export * from './charts.tsx'
export * from './dialog.tsx'
export * from './fields.tsx'
export * from './inline.tsx'
export * from './layout.tsx'
export * from './notes.tsx'
export * from './submit-form.tsx'
export * from './table.tsx'
