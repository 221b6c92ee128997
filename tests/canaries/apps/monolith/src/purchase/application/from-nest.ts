// rejected by eslint(no-restricted-imports): a use case imports the framework
import { Injectable } from '@nestjs/common';
export const decorator = Injectable;
