-- Whether the places of a sector are for people in wheelchairs.
alter table sectors add column wheelchair boolean not null default false;
