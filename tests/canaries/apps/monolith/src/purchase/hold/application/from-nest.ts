// rejected by eslint(no-restricted-imports): a use case of a feature imports the framework
import { Injectable } from '@nestjs/common';
export const decorator = Injectable;
