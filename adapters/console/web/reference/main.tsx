import { render } from 'preact'
import { Reference } from './reference.tsx'

const root = document.getElementById('app')
if (root) render(<Reference />, root)
