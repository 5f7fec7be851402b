/** Lists, tables and charts. */
export * from './charts.tsx'
export * from './columns.tsx'
export type { Series } from './plot.ts'
export * from './table.tsx'
