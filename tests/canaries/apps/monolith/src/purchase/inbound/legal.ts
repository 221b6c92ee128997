// legal
import { Controller } from '@nestjs/common';
import { Endpoint } from '#platform/http/endpoint';
import { CatalogApi } from '../../catalog/catalog.api.ts';
import { HoldSeats } from '../application/hold-seats.ts';
export const parts = [Controller, Endpoint, CatalogApi, HoldSeats];
