import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { count } from '../format.ts'
import type { Paged } from '../paging.ts'
import type { Live } from '../use-live.ts'
import { Button } from './fields.tsx'
import { useFocusHandedOn } from './keyboard-focus.ts'

/** One column. Without `render` it shows the row's field of its key. */
export interface Column<Row> {
  key: string
  label: string
  render?: (row: Row) => ComponentChildren
  /** `words`: what people or models name, which may be long. */
  align?: 'left' | 'right' | 'words'
}

/** A screen so narrow shows all rows as blocks, in pixels. */
const NARROW_PX = 640

/**
 * Rows under headings; where there is no room for the columns, each row is a block of its own.
 *
 * @param of where the rows come from; while that is asked or fails, nobody knows that there are none
 * @param empty what to show in place of a table without rows; `<Empty>` says what to do
 * @param onRow opens a row, by a click anywhere on it or with the keyboard on its first cell
 */
export function DataTable<Row>(props: {
  /** Label of the table for screen readers. */
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  of?: Pick<Live<unknown>, 'error' | 'loading'>
  empty?: ComponentChildren
  onRow?: (row: Row) => void
}) {
  const { columns, rows, rowKey, onRow, of } = props
  if (rows.length === 0 && (of?.error || of?.loading)) return null
  if (rows.length === 0 && props.empty) return <>{props.empty}</>
  const cell = (row: Row, column: Column<Row>, at: number) => {
    const shown = column.render ? column.render(row) : textOf((row as Record<string, unknown>)[column.key])
    if (at > 0 || !onRow) return shown
    return <RowLink onClick={() => onRow(row)}>{shown}</RowLink>
  }
  // Roles are written out: laid out as blocks, the elements lose the ones that they have by themselves.
  return (
    <Frame label={props.label}>
      <table role="table" aria-label={props.label}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ key, label, align }) => (
              <th key={key} role="columnheader" scope="col" class={align ?? 'left'}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr
              key={rowKey(row)}
              role="row"
              class={onRow ? 'opens' : undefined}
              onClick={(event) => {
                if (onRow && !(event.target as Element).closest('a, button, input, select')) onRow(row)
              }}
            >
              {columns.map((column, at) => (
                <td key={column.key} role="cell" class={column.align ?? 'left'} data-label={column.label}>
                  <div class="cell">{cell(row, column, at)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Frame>
  )
}

function RowLink(props: { onClick: () => void; children: ComponentChildren }) {
  const element = useRef<HTMLButtonElement>(null)
  useFocusHandedOn(element)
  return (
    <button ref={element} type="button" class="row-link" onClick={props.onClick}>
      {props.children}
    </button>
  )
}

/**
 * Shows a table's rows as blocks where its columns do not fit, and until there is room for them. What is wider even so is
 * scrolled, by the keyboard too.
 */
function Frame({ label, children }: { label: string; children: ComponentChildren }) {
  const frame = useRef<HTMLDivElement>(null)
  const neededPx = useRef(0)
  const [blocks, setBlocks] = useState(false)
  const [isScrolled, setIsScrolled] = useState(false)
  useLayoutEffect(() => {
    const element = frame.current
    const table = element?.firstElementChild
    if (!element || !table) return
    const measure = () => {
      const { clientWidth, scrollWidth } = element
      const isOver = scrollWidth > clientWidth
      if (!blocks && isOver) neededPx.current = scrollWidth
      setBlocks(innerWidth <= NARROW_PX || clientWidth < neededPx.current)
      setIsScrolled(isOver)
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    observer.observe(table)
    return () => observer.disconnect()
  }, [blocks])
  const reached = isScrolled ? ({ role: 'region', tabIndex: 0, 'aria-label': `${label}, all columns` } as const) : {}
  return (
    <div ref={frame} class={blocks ? 'table-frame blocks' : 'table-frame'} {...reached}>
      {children}
    </div>
  )
}

/**
 * Position in a list, with links to the pages around it. @param back label of the previous page; @param on of the next
 * one
 */
export function Pager(props: {
  page: Pick<Paged<unknown>, 'items' | 'total' | 'first' | 'next' | 'previous'>
  back?: string
  on?: string
}) {
  const { page, back = 'Newer', on = 'Older' } = props
  if (page.total === 0 || (!page.next && !page.previous)) return null
  return (
    <nav class="pager" aria-label="Pages">
      <Button size="small" disabled={!page.previous} onClick={() => page.previous?.()}>
        {back}
      </Button>
      <span>
        {count(page.first)}–{count(page.first + page.items.length - 1)} of {count(page.total)}
      </span>
      <Button size="small" disabled={!page.next} onClick={() => page.next?.()}>
        {on}
      </Button>
    </nav>
  )
}

function textOf(value: unknown): ComponentChildren {
  if (value === null || value === undefined || value === '') return <span class="muted">—</span>
  return Array.isArray(value) ? value.join(', ') : String(value)
}
