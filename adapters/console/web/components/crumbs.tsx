import type { ComponentChildren } from 'preact'
import './crumbs.css'

/** Line of links, badges and short texts below a title or in a card. */
export const Crumbs = ({ children }: { children: ComponentChildren }) => <span class="crumbs">{children}</span>
