import { type ComponentChildren, type ComponentProps, Fragment, type TargetedMouseEvent } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { count } from '../format.ts'
import { besideList, isBeside } from '../list-beside-record.ts'
import type { Paged } from '../paging.ts'
import { href } from '../router.ts'
import type { Live } from '../use-live.ts'
import { CutText } from './cut-text.tsx'
import { Button } from './fields.tsx'
import { useFolding } from './folding.ts'
import { type Filtering, Filters } from './form.tsx'
import { useFocusHandedOn } from './keyboard-focus.ts'
import { Card, Empty, Facts } from './layout.tsx'
import { ErrorNote, Loading } from './notes.tsx'

/** Column of a table. Without `render` it shows the row's field of the same key. */
export interface Column<Row> {
  key: string
  label: string
  render?: (row: Row) => ComponentChildren
  /** `words`: text by people or models, which gets the width that other columns leave. Without any it has no column. */
  align?: 'left' | 'right' | 'words'
  /** Columns that do not fit fold into the row: the `first` ones, then those further right, and `last` the others. */
  fold?: 'first' | 'last'
}

/**
 * Table of rows of one line each. Columns that do not fit are shown below a row on demand.
 *
 * @param of source of the rows; while it loads or has failed, the empty state is not shown
 * @param rowKey tells rows apart; by their id without it
 * @param empty shown in place of a table without rows: says what to do
 * @param opens page that shows a row by its id, or the address of a row's page; null for a row without one
 */
export function DataTable<Row>(props: TableProps<Row>) {
  const { rows, of, empty } = props
  if (rows.length === 0 && (of?.error || of?.loading)) return null
  if (rows.length > 0 || empty === undefined) return <Rows {...props} />
  return <Empty {...(typeof empty === 'string' ? { title: empty } : empty)} />
}

interface TableProps<Row> {
  /** Label of the table for screen readers. */
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey?: (row: Row) => string
  of?: Pick<Live<unknown>, 'error' | 'loading'>
  empty?: string | ComponentProps<typeof Empty>
  opens?: string | ((row: Row) => string | null)
}

/** Fields that tell records apart; a record has the first of them that it has for its id. */
const IDS = ['id', 'call_id', 'session_id', 'swarm_id', 'key', 'name']
const idOf = (row: unknown): string => {
  const record = row as Record<string, string>
  return record[IDS.find((name) => name in record) ?? 'id'] ?? ''
}

function Rows<Row>(props: TableProps<Row>) {
  const { label, rows, rowKey = idOf, opens = () => null } = props
  const frame = useRef<HTMLDivElement>(null)
  const [open, setOpen] = useState<string | null>(null)
  const content = (row: Row, { key, render }: Column<Row>) =>
    render ? render(row) : textOf((row as Record<string, unknown>)[key])
  const columns = props.columns.filter((one) => one.align !== 'words' || rows.some((row) => content(row, one)))
  const isFolded = useFolding(frame, leavingOrder(columns))
  const folded = columns.filter(({ key }) => isFolded(key))
  const shown = columns.filter(({ key }) => !isFolded(key))
  const addressOf = typeof opens === 'string' ? (row: Row) => href(opens, { id: idOf(row) }) : opens
  const cell = (row: Row, column: Column<Row>, at: number) => {
    const address = at > 0 ? null : addressOf(row)
    return address === null ? content(row, column) : <RowLink href={address} children={content(row, column)} />
  }

  return (
    <div ref={frame} class="table-frame">
      <table aria-label={label}>
        <thead>
          <tr>
            {shown.map(({ key, label, align }) => (
              <th key={key} scope="col" class={align ?? 'left'}>
                {label}
              </th>
            ))}
            {folded.length > 0 && (
              <th key="fold" scope="col">
                <span class="sr">More</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const id = rowKey(row)
            return (
              <Fragment key={id}>
                <tr {...(addressOf(row) !== null && { class: 'opens', onClick: openRow })}>
                  {shown.map((column, at) => (
                    <td key={column.key} class={column.align ?? 'left'}>
                      <div class="cell">{cell(row, column, at)}</div>
                    </td>
                  ))}
                  {folded.length > 0 && (
                    <td key="fold" class="right">
                      <FoldButton isOpen={open === id} onClick={() => setOpen(open === id ? null : id)} />
                    </td>
                  )}
                </tr>
                {open === id && folded.length > 0 && (
                  <tr class="unfolded">
                    <td colSpan={shown.length + 1}>
                      <Facts of={Object.fromEntries(folded.map((column) => [column.label, content(row, column)]))} />
                    </td>
                  </tr>
                )}
              </Fragment>
            )
          })}
        </tbody>
      </table>
      <CutText />
    </div>
  )
}

/** Keys of the columns that may fold, in the order in which they leave. The first column stays. */
function leavingOrder(columns: readonly Column<never>[]): string[] {
  const rank = { first: 0, last: 2 }
  const rankOf = ({ fold }: Column<never>) => (fold ? rank[fold] : 1)
  const others = columns.slice(1).toReversed()
  return others.sort((a, b) => rankOf(a) - rankOf(b)).map(({ key }) => key)
}

/** Follows the link of a row from a click beside it. Keys such as Ctrl keep their meaning. */
function openRow(event: TargetedMouseEvent<HTMLTableRowElement>): void {
  if ((event.target as Element).closest('a, button, input, select')) return
  const { ctrlKey, metaKey, shiftKey } = event
  const click = new MouseEvent('click', { ctrlKey, metaKey, shiftKey, bubbles: true, cancelable: true })
  event.currentTarget.querySelector('.row-link')?.dispatchEvent(click)
}

function RowLink(props: { href: string; children: ComponentChildren }) {
  const element = useRef<HTMLAnchorElement>(null)
  useFocusHandedOn(element)
  const address = besideList(props.href)
  const isShown = isBeside() && address === location.hash
  useEffect(() => {
    if (isShown) element.current?.scrollIntoView({ block: 'nearest' })
  }, [isShown])
  return (
    <a ref={element} class="row-link" href={address} aria-current={isShown || undefined}>
      {props.children}
    </a>
  )
}

function FoldButton({ isOpen, onClick }: { isOpen: boolean; onClick: () => void }) {
  return (
    <button type="button" class="quiet fold" aria-expanded={isOpen} aria-label="All columns" onClick={onClick}>
      {isOpen ? '▴' : '▾'}
    </button>
  )
}

/**
 * Position in a list, with buttons for the previous and the next page.
 *
 * @param back label of the button for the previous page
 * @param on label of the button for the next page
 */
function Pager(props: {
  page: Pick<Paged<unknown>, 'items' | 'total' | 'first' | 'next' | 'previous'>
  /** Label of the list. */
  of: string
  back?: string
  on?: string
}) {
  const { page, of, back = 'Newer', on = 'Older' } = props
  if (page.total === 0 || (!page.next && !page.previous)) return null
  return (
    <nav class="pager" aria-label={`Pages of ${of}`}>
      <Button size="small" disabled={!page.previous} onClick={() => page.previous?.()} children={back} />
      <span>
        {count(page.first)}–{count(page.first + page.items.length - 1)} of {count(page.total)}
      </span>
      <Button size="small" disabled={!page.next} onClick={() => page.next?.()} children={on} />
    </nav>
  )
}

function textOf(value: unknown): ComponentChildren {
  if (value === null || value === undefined || value === '') return <span class="muted">—</span>
  return Array.isArray(value) ? value.join(', ') : String(value)
}

/**
 * Card with a list of the API: its filters, error and progress, then the table and its pages.
 *
 * @param filters with the name of one item and a hint, for a list in which none matches them, and what stands below their fields
 * @param list a page of the list, or all of it
 * @param error shown in place of the list's own error
 * @param onRetry called in place of the list's own reload
 * @param notes what the list says about itself, before the table
 * @param loading name of the items, shown until the first reply
 * @param pages labels of the buttons for other pages
 * @param children content after the table
 */
export function ListCard<Row, Draft extends object = object>({
  title,
  actions,
  filters,
  list,
  error = list.error,
  onRetry = list.reload,
  notes = [],
  loading = 'the list',
  pages,
  children,
  ...table
}: Omit<ComponentProps<typeof DataTable<Row>>, 'rows' | 'of'> & {
  title?: string
  actions?: ComponentChildren
  filters?: Filtering<Draft> & { one: string; hint?: string; below?: ComponentChildren }
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
      {filters && <Filters<Draft> {...filters} />}
      {filters?.below}
      <ErrorNote error={error} onRetry={onRetry} />
      {notes.map((note) => (
        <p key={note} class="hint">
          {note}
        </p>
      ))}
      {list.loading && list.data === null && <Loading what={loading} />}
      <DataTable<Row>
        {...table}
        rows={list.data?.items ?? []}
        of={list}
        {...(filters?.asked && {
          empty: { title: `No ${filters.one} matches`, hint: filters.hint ?? 'Clear a filter to see more.' },
        })}
      />
      {'next' in list && <Pager page={list} of={table.label} {...pages} />}
      {children}
    </Card>
  )
}
