// rejected by eslint(no-restricted-imports): a use case imports Nest
import { Injectable } from '@nestjs/common';
export const decorator = Injectable;
