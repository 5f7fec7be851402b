import type { ComponentChildren, ComponentProps } from 'preact'
import type { Paged } from '../paging.ts'
import type { Live } from '../use-live.ts'
import { Card } from './layout.tsx'
import { ErrorNote, Loading } from './notes.tsx'
import { DataTable, Pager } from './table.tsx'

/**
 * Card with a list of the API: its filters, error and progress, then the table and its pages.
 *
 * @param list a page of the list, or all of it
 * @param error shown in place of the list's own error
 * @param onRetry called in place of the list's own reload
 * @param notes what the list says about itself, before the table
 * @param loading name of the items, shown until the first reply; nothing is shown without it
 * @param pages labels of the buttons for other pages
 * @param children content after the table
 */
export function ListCard<Row>({
  title,
  actions,
  filters,
  list,
  error = list.error,
  onRetry = list.reload,
  notes = [],
  loading,
  pages,
  children,
  ...table
}: Omit<ComponentProps<typeof DataTable<Row>>, 'rows' | 'of'> & {
  title?: string
  actions?: ComponentChildren
  filters?: ComponentChildren
  list: Pick<Live<{ items: Row[] }>, 'data' | 'error' | 'loading' | 'reload'> | Paged<Row>
  error?: unknown
  onRetry?: () => void
  notes?: readonly string[]
  loading?: string
  pages?: { back: string; on: string }
  children?: ComponentChildren
}) {
  return (
    <Card {...(title !== undefined && { title })} actions={actions}>
      {filters}
      <ErrorNote error={error} onRetry={onRetry} />
      {notes.map((note) => (
        <p key={note} class="hint">
          {note}
        </p>
      ))}
      {loading && list.loading && list.data === null && <Loading what={loading} />}
      <DataTable<Row> {...table} rows={list.data?.items ?? []} of={list} />
      {'next' in list && <Pager page={list} of={table.label} {...pages} />}
      {children}
    </Card>
  )
}
