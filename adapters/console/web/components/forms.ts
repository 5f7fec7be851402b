/** Forms, dialogs and their controls. */
export * from './dialog.tsx'
export * from './fields.tsx'
export * from './form.tsx'
export * from './use-action.ts'
