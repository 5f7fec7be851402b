#!/usr/bin/env node
import './program.ts'
