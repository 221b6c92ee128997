// rejected by eslint(no-restricted-imports): a use case of a feature imports Nest
import { Injectable } from '@nestjs/common';
export const decorator = Injectable;
